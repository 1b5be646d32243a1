/**
 * A telephone in a page: sends a tone of 440 Hz and measures the pitch of what it hears. Made once for a page; the tests
 * carry its descriptions to the media and back.
 */
globalThis.phone = (() => {
  const context = new AudioContext();
  const tone = new OscillatorNode(context, { frequency: 440 });
  const speech = new MediaStreamAudioDestinationNode(context);
  tone.connect(speech);
  tone.start();
  const hearing = new AnalyserNode(context, { fftSize: 32768, smoothingTimeConstant: 0 });
  const samples = new Float32Array(hearing.fftSize);
  const connection = new RTCPeerConnection({ iceServers: [] });
  const { sender } = connection.addTransceiver(speech.stream.getAudioTracks()[0]);
  const listen = ({ track }) => {
    const stream = new MediaStream([track]);
    // Chromium decodes what a media element plays, and nothing else.
    const player = new Audio();
    player.muted = true;
    player.srcObject = stream;
    new MediaStreamAudioSourceNode(context, { mediaStream: stream }).connect(hearing);
  };
  // The track comes again at the end of a hold. Sources of one track are not in step: the sum of two may be silence.
  connection.addEventListener('track', listen, { once: true });

  return {
    async offer(options) {
      await connection.setLocalDescription(await connection.createOffer(options));
      return connection.localDescription.sdp;
    },
    take: (sdp) => connection.setRemoteDescription({ type: 'answer', sdp }),
    async answer(sdp) {
      await connection.setRemoteDescription({ type: 'offer', sdp });
      await connection.setLocalDescription(await connection.createAnswer());
      return connection.localDescription.sdp;
    },
    press: (keys) => sender.dtmf.insertDTMF(keys, 120, 80),
    direct: (direction) => {
      connection.getTransceivers()[0].direction = direction;
    },
    close: () => connection.close(),
    /** Of the last 0.7 s: 0 is silence, 0.7 a tone as loud as can be. */
    loudness() {
      hearing.getFloatTimeDomainData(samples);
      return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
    },
    /** Of the last 0.7 s, Hz; null: silence. */
    pitch() {
      hearing.getFloatTimeDomainData(samples);
      const loudest = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
      if (loudest < 0.05 || samples.slice(0, 4800).every((sample) => Math.abs(sample) < 0.05)) return null;
      const rises = [];
      for (let i = 1; i < samples.length; i++) {
        if (samples[i - 1] < 0 && samples[i] >= 0) rises.push(i - samples[i] / (samples[i] - samples[i - 1]));
      }
      return ((rises.length - 1) * context.sampleRate) / (rises.at(-1) - rises[0]);
    },
  };
})();
