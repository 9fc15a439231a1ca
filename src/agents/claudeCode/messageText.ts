/** A message as Claude Code takes it for a message: what begins with a slash would be one of its commands (`/clear` drops the context). */
export const messageText = (text: string): string => (text.startsWith('/') ? ` ${text}` : text);
