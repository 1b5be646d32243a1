/** Every change to an organization's set-up goes through here: it announces changes and finds who uses what. */
export { Altered, Catalogue, mostNamedUsers, type NamedVersion } from './catalogue.ts';
