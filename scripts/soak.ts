/** `npm run soak`: see test/soak/main.ts. */
import '../test/soak/main.ts';
