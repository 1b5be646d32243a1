/** The frame around the screens: navigation by role, the connection, and who is signed in. */
import { useEffect } from 'preact/hooks';
import { reachable } from './api/client.ts';
import { mayCall, resumeSession, type Session, signedIn } from './api/session.ts';
import { healed } from './connection.ts';
import { AccountMenu } from './parts/account.tsx';
import { KeysDialog } from './parts/keys.tsx';
import { useLoaded } from './parts/load.ts';
import { Navigation } from './parts/navigation.tsx';
import { openPhone, phoneOpen } from './parts/open-phone.ts';
import { Loading, ProblemNote, Screen } from './parts/pieces.tsx';
import { Questions } from './parts/question.tsx';
import { usual } from './parts/renewal.ts';
import { pathTo } from './router.ts';
import { Later } from './screens/later.tsx';
import { Shown } from './screens/shown.tsx';
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

const loadPhone = () => import('./phone/bar.tsx').then((one) => one.PhoneBar);

function Frame({ session: { organization } }: { session: Session }) {
  return (
    <div class="frame">
      <a class="skip" href="#content">
        {texts.skip}
      </a>
      <header class="bar">
        <a class="brand" href={pathTo('overview')}>
          {texts.product}
        </a>
        <Navigation />
        {mayCall.value && (
          <button type="button" aria-keyshortcuts="p" onClick={() => openPhone()}>
            {texts.phone}
          </button>
        )}
        <AccountMenu name={organization?.name ?? texts.account.operator} />
      </header>
      <main id="content" tabIndex={-1}>
        {organization !== null && !organization.sip_enabled ? <NotEntitled /> : <Shown />}
      </main>
      {mayCall.value && phoneOpen.value && <Later load={loadPhone} />}
      <Questions />
      <KeysDialog />
    </div>
  );
}

function NotEntitled() {
  // An operator switches it on meanwhile.
  useLoaded('session', resumeSession, usual);
  return (
    <Screen title={texts.notEntitled.title}>
      <p>{texts.notEntitled.text}</p>
    </Screen>
  );
}
