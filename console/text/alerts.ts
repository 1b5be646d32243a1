/** Texts of the screen of alerts. */
export const alerts = {
  title: 'Alerts',
  open: 'Open ones',
  all: 'All',
  show: 'Which alerts',
  head: {
    state: 'State',
    kind: 'Alert',
    about: 'About',
    endpoint: 'Endpoint',
    value: 'Value',
    threshold: 'Threshold',
    raised: 'Raised',
    resolved: 'Resolved',
  },
  watch: 'a watch',
  states: { open: 'open', resolved: 'resolved' },
  units: {
    unreachable: 'min',
    failure_rate: '%',
    response_time: 'ms',
    certificate_expiring: 'd',
    watch_drift: '%',
  },
  noneOpen: 'No alert is open.',
  none: 'No alert was raised in the last 90 days.',
  noneNext:
    'Alerts are raised for numbers whose alert_config is enabled (PATCH /v1/sip/config), and by watches. Try the notices with POST /v1/sip/alerts/test.',
} as const;
