/** The frame around the screens: navigation by role, the connection, and who is signed in. */
import { useEffect } from 'preact/hooks';
import { reachable } from './api/client.ts';
import { isOperator, resumeSession, type Session, session, signedIn } from './api/session.ts';
import { healed } from './connection.ts';
import { AccountMenu } from './parts/account.tsx';
import { KeysDialog } from './parts/keys.tsx';
import { Empty, Loading, ProblemNote, Screen } from './parts/pieces.tsx';
import { pathTo, place } from './router.ts';
import { Calls } from './screens/calls.tsx';
import { Edges } from './screens/edges.tsx';
import { Later } from './screens/later.tsx';
import { Live } from './screens/live/live.tsx';
import { Sessions } from './screens/sessions.tsx';
import { SignIn } from './screens/sign-in.tsx';
import { texts } from './text/texts.ts';

export function App() {
  const { value } = signedIn;
  const attempt = healed.value;
  useEffect(() => {
    if (attempt > 0 && signedIn.peek().state !== 'in') void resumeSession();
  }, [attempt]);
  return (
    <>
      <Connection />
      {value.state === 'in' && <Frame session={value.session} />}
      {value.state === 'out' && <SignIn ended={value.ended} />}
      {value.state === 'unknown' && <Loading />}
      {value.state === 'failed' && (
        <main class="alone">
          <ProblemNote problem={value.problem} again={() => void resumeSession()} />
        </main>
      )}
    </>
  );
}

function Connection() {
  return (
    <div class="connection" role="status">
      {!reachable.value && <p>{texts.connection.lost}</p>}
    </div>
  );
}

function Frame({ session: { organization } }: { session: Session }) {
  return (
    <div class="frame">
      <a class="skip" href="#content">
        {texts.skip}
      </a>
      <header class="bar">
        <a class="brand" href={pathTo('live')}>
          {texts.product}
        </a>
        <nav aria-label={texts.nav.label}>
          {linksOf(session.value).map(([name, screens]) => (
            <a
              key={name}
              href={pathTo(name)}
              {...(screens.some((one) => one === place.value.screen) && { 'aria-current': 'page' as const })}
            >
              {texts.nav[name]}
            </a>
          ))}
        </nav>
        <AccountMenu name={organization?.name ?? texts.account.operator} />
      </header>
      <main id="content" tabIndex={-1}>
        {organization !== null && !organization.sip_enabled ? <NotEntitled /> : <Shown />}
      </main>
      <KeysDialog />
    </div>
  );
}

type NavName = 'live' | 'calls' | 'trunks' | 'edges' | 'sessions';
/** Each link with the screens that belong to it. */
type NavLink = readonly [name: NavName, screens: readonly string[]];

/** Only what the role can see. */
function linksOf(current: Session | null): readonly NavLink[] {
  if (current?.role === 'operator')
    return [
      ['edges', ['edges', 'live']],
      ['sessions', ['sessions']],
    ];
  return [
    ['live', ['live']],
    ['calls', ['calls', 'call']],
    ['trunks', ['trunks', 'trunk']],
    ['sessions', ['sessions']],
  ];
}

function Shown() {
  const { screen, id } = place.value;
  if (screen === 'sessions') return <Sessions />;
  if (isOperator.value) return screen === 'edges' || screen === 'live' ? <Edges /> : <NotFound />;
  switch (screen) {
    case 'live':
      return <Live />;
    case 'calls':
      return <Calls />;
    case 'call':
      return (
        <Later key={id} id={id} load={() => import('./screens/call/call.tsx').then((one) => one.Call)} />
      );
    case 'trunks':
      return <Later load={() => import('./screens/trunks/trunks.tsx').then((one) => one.Trunks)} />;
    case 'trunk':
      return (
        <Later key={id} id={id} load={() => import('./screens/trunks/trunk.tsx').then((one) => one.Trunk)} />
      );
    default:
      return <NotFound />;
  }
}

function NotFound() {
  return (
    <Screen title={texts.notFound.title}>
      <p>{texts.notFound.text}</p>
    </Screen>
  );
}

function NotEntitled() {
  return <Empty title={texts.notEntitled.title}>{texts.notEntitled.text}</Empty>;
}
