export function judge(predictions: string, labels: string): { score: number } | { invalid: string };
