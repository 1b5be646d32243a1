/** `npm run package-test`: see test/packages/main.ts. */
import '../test/packages/main.ts';
