/** The page for people, at `/`. */
export { consoleRoutes } from './routes.ts';
