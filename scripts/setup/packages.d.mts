export function ensurePackages(root: string): Promise<void>;
export function keepOwnPlatform(folder: string): void;
