/** What answers a number. */
export { numberRoutes } from './routes.ts';
