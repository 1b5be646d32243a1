/** Headers of pages for browsers. Nobody frames them, so that nobody is led to press their buttons unseen. */

export interface PageNeeds {
  /** Sources of images besides its own, such as `data:`. */
  readonly images?: string;
  /** Other places that it connects to, such as the WebSockets of edges. */
  readonly connections?: readonly string[];
  /** It plays sound, and uses the microphone. */
  readonly sound?: boolean;
}

/** The page loads nothing from elsewhere but what it needs, and runs no text as code. */
export function pageHeaders({ images, connections = [], sound = false }: PageNeeds = {}) {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src ${["'self'", ...(images === undefined ? [] : [images])].join(' ')}`,
    ...(sound ? ["media-src 'self'"] : []),
    `connect-src ${["'self'", ...connections].join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ];
  return {
    'content-security-policy': policy.join('; '),
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'same-origin',
    'permissions-policy': `camera=(), geolocation=(), microphone=(${sound ? 'self' : ''})`,
  };
}
