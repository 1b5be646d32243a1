/** Commands on the machine of the server, which is a checkout or has the packages installed: the page does not know. */
export const command = (name: string, rest = ''): string => {
  const [checkout, installed] = [`npm run ${name}`, `trunkline ${name}`];
  return rest === ''
    ? `${checkout} (packages: ${installed})`
    : `${checkout} -- ${rest} (packages: ${installed} ${rest})`;
};

export const aFirstCall = `On the machine of the server: ${command('call')}`;
