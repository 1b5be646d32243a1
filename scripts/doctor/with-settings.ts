/** Checks that need the settings of a program. */
import type { ControlConfig } from '../../control/settings/index.ts';
import type { EdgeSettings } from '../../edge/config.ts';
import { type Finding, skipped } from './check.ts';
import type { Place } from './place.ts';

type Found = Finding | Promise<Finding>;

export const ofEdge =
  (run: (settings: EdgeSettings, place: Place) => Found) =>
  (place: Place): Found =>
    'settings' in place.edge
      ? run(place.edge.settings, place)
      : skipped('the settings of the edge cannot be used');

export const ofControl =
  (run: (settings: ControlConfig, place: Place) => Found) =>
  (place: Place): Found =>
    'settings' in place.control
      ? run(place.control.settings, place)
      : skipped('the settings of the control plane cannot be used');
