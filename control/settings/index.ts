/** The settings of the control plane: read from the environment, checked, with their defaults. */
export {
  type CarrierSettings,
  type ControlConfig,
  type MailSettings,
  readControlConfig,
  type ScanSettings,
  type SmsSettings,
} from './config.ts';
