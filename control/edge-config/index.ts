/** The edges' configuration, published from what organizations set up. */
export { EdgeConfigStore, followCatalogue } from './store.ts';
