/* mediasoup links this archive whole; the code itself comes from Debian's shared library. */
void trunkline_libsrtp3_anchor(void) {}
