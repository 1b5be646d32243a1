/** `npm run fuzz`: see test/fuzz/main.ts. */
import '../test/fuzz/main.ts';
