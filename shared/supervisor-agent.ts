/** User-Agent of the health checks of `npm start`: it looks several times a second until all is ready. */
export const supervisorAgent = 'trunkline-supervisor';
