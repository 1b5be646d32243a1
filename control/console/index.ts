/** The page for people, at `/`. */
export { ConsoleBuild } from './bundle.ts';
export { consoleRoutes } from './routes.ts';
