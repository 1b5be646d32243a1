/** A program of a test: each call leaves garbage outside the heap, and some of it for good. */
const [, , leak = '0', garbage = '0'] = process.argv;
const kept = [];

process.on('message', (calls) => {
  for (let call = 0; call < calls; call++) {
    Buffer.alloc(Number(garbage), 1);
    if (leak !== '0') kept.push(Buffer.alloc(Number(leak), 1));
  }
  process.send(kept.length);
});
