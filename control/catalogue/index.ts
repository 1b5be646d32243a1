/** Every write to what organizations set up goes through here: changes are announced, and who uses what is asked. */
export { Altered, Catalogue, mostNamedUsers, type NamedVersion } from './catalogue.ts';
