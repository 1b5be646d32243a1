/** Text chats over the API. */
export { chatRoutes } from './routes.ts';
export { forgetChats } from './store.ts';
