/** /v1/integrations: available integrations, and the resources that they use (contract 8.3). */

import { plain } from '#shared/api/common.ts';
import {
  ActionList,
  IntegrationPath,
  ResourceCreate,
  ResourceDeleted,
  ResourceList,
  ResourceOne,
  ResourcePath,
  ResourceQuery,
  ResourceUpdate,
} from '#shared/api/tools.ts';
import { ApiError } from '#shared/errors.ts';
import { newId } from '#shared/ids.ts';
import { actorOf, recordChange } from '../audit/index.ts';
import { type App, orgOf, totalHeader } from '../http/index.ts';
import { isoTime } from '../organizations/index.ts';
import { checkCredentials } from './credential-rules.ts';
import type { ToolDeps } from './deps.ts';
import { findIntegration } from './integrations/catalogue.ts';
import type { Integration } from './integrations/integration.ts';
import {
  deleteResource,
  findResource,
  insertResource,
  listResources,
  updateResource,
} from './resources-store.ts';
import { unknownIntegration } from './rules.ts';

export function integrationRoutes(app: App, services: ToolDeps): void {
  const { db } = services.database;

  app.route({
    method: 'GET',
    url: '/v1/integrations/:integration/actions',
    config: { access: 'read', errors: ['INTEGRATION_NOT_FOUND'] },
    schema: {
      summary: 'The actions of an integration',
      params: IntegrationPath,
      response: { 200: ActionList },
    },
    handler: async (request) => {
      const { actions } = requireIntegration(request.params.integration);
      return plain({
        actions: actions.map(({ key, name, description, inputSchema }) => ({
          key,
          name,
          description,
          input_schema: { ...inputSchema },
        })),
      });
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/integrations/:integration/resources',
    config: { access: 'read', errors: ['INTEGRATION_NOT_FOUND'] },
    schema: {
      summary: 'The connected resources of an integration, oldest first',
      params: IntegrationPath,
      querystring: ResourceQuery,
      response: { 200: ResourceList },
    },
    handler: async (request, reply) => {
      const { key } = requireIntegration(request.params.integration);
      const { limit = 200, offset = 0 } = request.query;
      const found = await listResources(db, orgOf(request), key, { limit, offset });
      reply.header(totalHeader, found.total);
      return plain({ resources: found.resources });
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/integrations/:integration/resources',
    config: { access: 'member', errors: ['INTEGRATION_NOT_FOUND', 'TARGET_NOT_ALLOWED', 'QUOTA_EXCEEDED'] },
    schema: {
      summary: 'Connect a resource; its credentials are encrypted and never returned',
      params: IntegrationPath,
      body: ResourceCreate,
      response: { 200: ResourceOne },
    },
    handler: async (request) => {
      const integration = requireIntegration(request.params.integration);
      const { name, credentials } = request.body;
      checkCredentials(integration, credentials, services.allowedTargets);
      const id = newId();
      const orgId = orgOf(request);
      const row = {
        id,
        org_id: orgId,
        integration: integration.key,
        name,
        created_at: isoTime(services.clock),
      };
      await db.transaction().execute(async (trx) => {
        await services.quotas.room(trx, 'integration_resources', orgId);
        await insertResource(trx, services.secrets, row, credentials);
        const change = { orgId, area: 'integrations', subject: id, action: 'connect' };
        await recordChange(trx, services.clock, actorOf(request), change);
      });
      return plain({ resource: { id, name, status: 'active' as const } });
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/integrations/:integration/resources/:resource_id',
    config: { access: 'read', errors: ['INTEGRATION_NOT_FOUND', 'RESOURCE_NOT_FOUND'] },
    schema: { summary: 'One connected resource', params: ResourcePath, response: { 200: ResourceOne } },
    handler: async (request) => {
      const { key } = requireIntegration(request.params.integration);
      const resource = await findResource(db, orgOf(request), key, request.params.resource_id);
      if (!resource) throw ApiError.of('RESOURCE_NOT_FOUND');
      return plain({ resource });
    },
  });

  app.route({
    method: 'PATCH',
    url: '/v1/integrations/:integration/resources/:resource_id',
    config: {
      access: 'member',
      errors: ['INTEGRATION_NOT_FOUND', 'RESOURCE_NOT_FOUND', 'TARGET_NOT_ALLOWED'],
    },
    schema: {
      summary: 'Change a connected resource; with new credentials it is active again',
      params: ResourcePath,
      body: ResourceUpdate,
      response: { 200: ResourceOne },
    },
    handler: async (request) => {
      const integration = requireIntegration(request.params.integration);
      const { resource_id: id } = request.params;
      const { body } = request;
      if (body.credentials) checkCredentials(integration, body.credentials, services.allowedTargets);
      const orgId = orgOf(request);
      const resource = await db.transaction().execute(async (trx) => {
        const found = await findResource(trx, orgId, integration.key, id);
        if (!found) throw ApiError.of('RESOURCE_NOT_FOUND');
        await updateResource(trx, services.secrets, id, body);
        const fields = Object.keys(body).sort();
        const change = { orgId, area: 'integrations', subject: id, action: 'update', fields };
        await recordChange(trx, services.clock, actorOf(request), change);
        return findResource(trx, orgId, integration.key, id);
      });
      if (!resource) throw ApiError.of('RESOURCE_NOT_FOUND');
      return plain({ resource });
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/integrations/:integration/resources/:resource_id',
    config: { access: 'member', errors: ['INTEGRATION_NOT_FOUND', 'RESOURCE_NOT_FOUND'] },
    schema: {
      summary: 'Disconnect a resource; tools that use it fail from now on',
      params: ResourcePath,
      response: { 200: ResourceDeleted },
    },
    handler: async (request) => {
      const { key } = requireIntegration(request.params.integration);
      const orgId = orgOf(request);
      const { resource_id: id } = request.params;
      await db.transaction().execute(async (trx) => {
        if (!(await deleteResource(trx, orgId, key, id))) throw ApiError.of('RESOURCE_NOT_FOUND');
        const change = { orgId, area: 'integrations', subject: id, action: 'disconnect' };
        await recordChange(trx, services.clock, actorOf(request), change);
      });
      return plain({ deleted: true as const });
    },
  });
}

/** @throws ApiError INTEGRATION_NOT_FOUND */
function requireIntegration(key: string): Integration {
  const integration = findIntegration(key);
  if (!integration) throw unknownIntegration(key);
  return integration;
}
