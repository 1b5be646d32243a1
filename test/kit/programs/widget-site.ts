/** A page of another origin with the chat of a widget. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Site {
  readonly origin: string;
  /** Attributes of the script element, besides its address. */
  attributes: string;
  widget: string;
  /** Where its policy allows connections to, besides the control plane. */
  sockets: string;
  close(): Promise<void>;
}

/** With a policy that allows only the control plane's script and requests. @param controlUrl known once it is asked for */
export async function startSite(controlUrl: () => string): Promise<Site> {
  const server: Server = createServer((_request, response) => {
    const control = controlUrl();
    const policy = `default-src 'none'; script-src ${control}; connect-src ${control} ${site.sockets}; img-src data:`;
    response.writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
    });
    response.end(
      `<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,">` +
        `<meta name="viewport" content="width=device-width"><main><h1>Shop</h1><button>Buy</button></main>` +
        `<script src="${control}/widget/${site.widget}/embed.js" ${site.attributes} async></script></html>`,
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const site: Site = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    attributes: '',
    widget: '',
    sockets: '',
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return site;
}
