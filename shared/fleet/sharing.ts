/**
 * How long an edge goes on counting with control after the last other edge has left: what that one started still counts
 * against limits of a minute, and if it died, its calls may still be up.
 */
export const sharedAfterMs = 60_000;
