/** A prompt for a harness that takes a leading slash for a command of its own: it must not be one. */
export const asPrompt = (prompt: string): string => (/^\s*\//u.test(prompt) ? `Your task:\n\n${prompt}` : prompt);
