export function withLock<T>(file: string, onWait: () => void, work: () => Promise<T>): Promise<T>;
