/**
 * What the media worker is built from, besides the sources in the mediasoup package, the patches and the
 * stand-ins. Part of the hash that names the build: a change here builds a new worker.
 */

/**
 * Upstream sources of libsrtp 2, as Debian's and Ubuntu's archives carry them. Their binary package links to
 * NSS, which costs twice the CPU of OpenSSL per packet.
 */
export const libsrtp = {
  sourcePackage: 'libsrtp2',
  /** file name of the archive -> its SHA-256 */
  archives: new Map([
    ['libsrtp2_2.5.0.orig.tar.gz', '8a43ef8e9ae2b665292591af62aa1a4ae41e468b6d98d8258f91478735da4e09'],
  ]),
  mesonOptions: [
    '--wrap-mode=nodownload',
    '--buildtype=release',
    '--default-library=static',
    '--libdir=lib',
    '-Db_staticpic=true',
    '-Dcrypto-library=openssl',
    '-Dcrypto-library-kdf=disabled',
    '-Dtests=disabled',
    '-Dpcap-tests=disabled',
    '-Ddoc=disabled',
  ],
} as const;

/** Meson's name of each subproject of the worker that a folder of `standins/` takes the place of. */
export const standins = ['libuv', 'openssl', 'libsrtp3', 'unordered-dense', 'flatbuffers'] as const;

/**
 * `ms_use_builtin_bwe` leaves out libwebrtc's bandwidth estimation, and with it abseil: telephone audio has a
 * constant rate. `-O2` builds in half the time of `-O3` and measured the same.
 */
export const workerMesonOptions = [
  '--wrap-mode=nodownload',
  '--buildtype=release',
  '-Doptimization=2',
  '-Db_ndebug=true',
  '-Dms_use_builtin_bwe=true',
] as const;

/** Debian packages that the build needs. */
export const buildPackages = [
  'g++',
  'meson',
  'ninja-build',
  'pkg-config',
  'patch',
  'dpkg-dev',
  'libuv1-dev',
  'libssl-dev',
  'libflatbuffers-dev',
  'flatbuffers-compiler',
] as const;
