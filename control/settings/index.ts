/** The control plane's settings: read from the environment, validated, with defaults. */
export {
  type CarrierSettings,
  type ControlConfig,
  type MailSettings,
  readControlConfig,
  type ScanSettings,
  type SmsSettings,
} from './config.ts';
