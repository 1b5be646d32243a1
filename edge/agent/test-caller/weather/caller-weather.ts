/**
 * The weather of one test run's call: put between the caller and its leg, with a measure of what the agent hears.
 *
 *     caller --CallerSound--> leg --CallerNetwork--> ... --> leg --HeardLevels--> tested agent
 */
import type { Weather, WeatherReport } from '#shared/agent-test-weather.ts';
import { type Chance, chance } from '#shared/chance.ts';
import type { Clock } from '#shared/clock.ts';
import type { AgentLeg, Agents } from '../../../call/ports/agents.ts';
import { type Media, withLegs } from '../../../call/ports/media.ts';
import { CallerSound } from './caller-sound.ts';
import { HeardLevels } from './heard-levels.ts';
import { CallerNetwork } from './network.ts';

export class CallerWeather {
  readonly #weather: Weather;
  /** Of the sound and of the network apart: how many packets there are depends on the time. */
  readonly #soundChance: Chance;
  readonly #network: CallerNetwork;
  readonly #heard = new HeardLevels();

  constructor(weather: Weather, seed: number, clock: Clock) {
    this.#weather = weather;
    const seeds = chance(seed);
    const next = () => chance(Math.floor(seeds.next() * 2 ** 32));
    this.#soundChance = next();
    this.#network = new CallerNetwork(weather, next(), clock);
  }

  /** The caller's media. */
  media(media: Media): Media {
    return withLegs(media, (options) => media.createLeg({ ...options, way: this.#network }));
  }

  /** The caller, as its telephone hears it. */
  caller(caller: AgentLeg): AgentLeg {
    const sound = new CallerSound(this.#weather, this.#soundChance, caller.sampleRate);
    return tapped(caller, {
      read: (frame) => sound.send(frame, caller.read(frame)),
      write: (frame) => {
        sound.hear(frame);
        caller.write?.(frame);
      },
    });
  }

  /** The tested agents, with a measure of what they hear. */
  tested(agents: Agents): Agents {
    return {
      ...agents,
      create: (...call) => {
        const agent = agents.create(...call);
        return tapped(agent, {
          write: (frame) => {
            this.#heard.add(frame);
            agent.write?.(frame);
          },
        });
      },
    };
  }

  report(): WeatherReport {
    return { ...this.#network.counts, loud_dbov: this.#heard.loud, quiet_dbov: this.#heard.quiet };
  }

  close(): void {
    this.#network.close();
  }
}

function tapped(leg: AgentLeg, audio: Partial<Pick<AgentLeg, 'read' | 'write'>>): AgentLeg {
  return {
    sampleRate: leg.sampleRate,
    read: (frame) => leg.read(frame),
    dtmf: (event) => leg.dtmf?.(event),
    prepare: () => leg.prepare(),
    start: () => leg.start(),
    close: (reason) => leg.close(reason),
    lastWords: async () => leg.lastWords?.(),
    ...audio,
  };
}
