import type { SandboxTenant } from '../../collector/api/access/sandboxTenant.ts'

/** For tests without test keys: everybody is who they are. */
export const noSandboxTenant: SandboxTenant = {
  enter: async (_request, principal) => principal,
  enterBody: async () => {},
  simulate: (work) => work(),
}
