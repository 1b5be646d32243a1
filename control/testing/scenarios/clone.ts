/** POST /v1/agent-testing/templates/{id}/clone (contract 6.2). */
import type { AssertionCreate } from '#shared/api/agent-testing/assertions.ts';
import type { Scenario } from '#shared/api/agent-testing/scenarios.ts';
import type { TemplateClone } from '#shared/api/agent-testing/templates.ts';
import { ApiError } from '#shared/errors.ts';
import type { Actor } from '../../audit/index.ts';
import type { TestingDeps } from '../common/deps.ts';
import { freeName, readAnySubject } from './rules.ts';
import { requireSubject, takenNames } from './store.ts';
import { templates } from './templates.ts';
import { createScenario } from './write.ts';

/** @throws ApiError TEMPLATE_NOT_FOUND, PATHWAY_NOT_FOUND, PERSONA_NOT_FOUND, TEST_AGENT_NOT_FOUND, SCENARIO_NAME_TAKEN */
export async function cloneTemplate(
  services: TestingDeps,
  orgId: string,
  templateId: string,
  body: TemplateClone,
  by: Actor,
): Promise<Scenario> {
  const template = templates.find(({ id }) => id === templateId);
  const subject = readAnySubject(body);
  if (!template) throw ApiError.of('TEMPLATE_NOT_FOUND');
  const { db } = services.database;
  await requireSubject(db, orgId, subject);
  const { id: _, assertions, ...content } = template;
  const create = (name: string) =>
    createScenario(
      services,
      orgId,
      {
        ...content,
        ...body,
        name,
        assertions: assertions.map((assertion) => ({ ...assertion }) as AssertionCreate),
      },
      by,
    );
  if (body.name !== undefined) return create(body.name);
  for (;;) {
    try {
      return await create(freeName(template.name, await takenNames(db, subject)));
    } catch (error) {
      // The name was taken since the check.
      if (!(error instanceof ApiError) || error.code !== 'SCENARIO_NAME_TAKEN') throw error;
    }
  }
}
