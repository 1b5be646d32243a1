/** GET /v1/agent-testing/analytics/{pathwayId} and …/enhanced (contract 6.9 and 6.10). */
import {
  Analytics,
  AnalyticsPath,
  AnalyticsQuery,
  EnhancedAnalytics,
  VersionAnalytics,
  VersionsQuery,
} from '#shared/api/agent-testing/analytics.ts';
import { testing } from '#shared/api/agent-testing/wrapping.ts';
import { ApiError } from '#shared/errors.ts';
import type { Db, PathwayRow } from '../../db/index.ts';
import { type App, orgOf } from '../../http/index.ts';
import { findPathway } from '../../pathways/index.ts';
import type { TestingDeps } from '../common/deps.ts';
import { basicAnalytics, enhancedAnalytics } from './analytics.ts';
import { versionAnalytics } from './versions.ts';

const defaultDays = 30;

export function analyticsRoutes(app: App, { database: { db }, clock }: TestingDeps): void {
  app.route({
    method: 'GET',
    url: '/v1/agent-testing/analytics/:pathwayId',
    config: { access: 'read', errors: ['PATHWAY_NOT_FOUND'] },
    schema: {
      summary: 'Results of a pathway’s runs',
      params: AnalyticsPath,
      querystring: AnalyticsQuery,
      response: { 200: Analytics },
    },
    handler: async (request) => {
      const pathway = await pathwayOf(db, orgOf(request), request.params.pathwayId);
      return testing(await basicAnalytics(db, pathway, clock.now(), request.query.days ?? defaultDays));
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/agent-testing/analytics/:pathwayId/enhanced',
    config: { access: 'read', errors: ['PATHWAY_NOT_FOUND'] },
    schema: {
      summary: 'Health, reliability, trend and flow of a pathway’s runs',
      params: AnalyticsPath,
      querystring: AnalyticsQuery,
      response: { 200: EnhancedAnalytics },
    },
    handler: async (request) => {
      const pathway = await pathwayOf(db, orgOf(request), request.params.pathwayId);
      return testing(await enhancedAnalytics(db, pathway, clock.now(), request.query.days ?? defaultDays));
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/agent-testing/analytics/:pathwayId/versions',
    config: { access: 'read', errors: ['PATHWAY_NOT_FOUND'] },
    schema: {
      summary: 'Pass rates of a pathway’s versions, newest first, in total and by scenario',
      params: AnalyticsPath,
      querystring: VersionsQuery,
      response: { 200: VersionAnalytics },
    },
    handler: async (request) => {
      const { days = defaultDays, limit = 10, offset = 0 } = request.query;
      const pathway = await pathwayOf(db, orgOf(request), request.params.pathwayId);
      return testing(await versionAnalytics(db, pathway, clock.now(), { days, limit, offset }));
    },
  });
}

/** @throws ApiError PATHWAY_NOT_FOUND */
async function pathwayOf(db: Db, orgId: string, id: string): Promise<PathwayRow> {
  const pathway = await findPathway(db, orgId, id);
  if (!pathway) throw ApiError.of('PATHWAY_NOT_FOUND');
  return pathway;
}
