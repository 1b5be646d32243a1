/** The edges' configuration, published from what organizations set up. */
export { pruneRemoved } from './removed.ts';
export { EdgeConfigStore, followCatalogue } from './store.ts';
