export const nodePackage: string;
export function ensurePackages(root: string): Promise<void>;
export function keepOwnPlatform(folder: string): void;
export interface Lock {
  readonly packages: Readonly<Record<string, { readonly version?: string; readonly optional?: boolean }>>;
}
export function isInstalled(modules: string, wanted: Lock): boolean;
