/** Text chats over the API. */
export { chatRoutes } from './routes.ts';
export { pruneChats } from './store.ts';
