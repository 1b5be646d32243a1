/** `npm run test-long` runs. */
export const isLong = process.env.TRUNKLINE_TEST_LONG === 'true';
