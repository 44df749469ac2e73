import { capture } from './cases/capture.ts'
import { delivery } from './cases/delivery.ts'
import { elements } from './cases/elements.ts'
import { frustration } from './cases/frustration.ts'
import { hostile } from './cases/hostile.ts'
import { pages } from './cases/pages.ts'
import { privacy } from './cases/privacy.ts'
import { routes } from './cases/routes.ts'
import { scroll } from './cases/scroll.ts'
import { vitals } from './cases/vitals.ts'
import type { EngineName } from './engine.ts'
import type { Stage } from './stage.ts'

/** One row of the table: what the pixel does, in every engine that has what it takes. */
export interface Case {
  name: string
  /** Engines that cannot do it, and why. */
  unsupported?: Partial<Record<EngineName, string>>
  /** For a visitor who has switched on Global Privacy Control in the browser. */
  isPrivate?: true
  run(stage: Stage): Promise<void>
}

export const cases: Case[] = [
  ...capture,
  ...elements,
  ...scroll,
  ...frustration,
  ...vitals,
  ...pages,
  ...routes,
  ...privacy,
  ...hostile,
  ...delivery,
]
