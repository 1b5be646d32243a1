/** Made from docs/errors.md when the console is built (vite.config.ts). */
declare module 'virtual:advice' {
  export const advice: Readonly<Record<string, string | undefined>>;
}

declare module '*.css';

declare module '*.css?inline' {
  const text: string;
  export default text;
}
