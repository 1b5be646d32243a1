/** `npm run simulate`: see test/simulation/main.ts. */
import '../test/simulation/main.ts';
