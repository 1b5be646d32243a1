/** Events of this process: stored, stored without their data because it was too large, and deleted before their time. */
export const eventCounts = { recorded: 0, shortened: 0, crowdedOut: 0 };
