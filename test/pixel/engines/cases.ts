import type { Case } from './case.ts'
import { capture } from './cases/capture.ts'
import { clobbered } from './cases/clobbered.ts'
import { delivery } from './cases/delivery.ts'
import { elements } from './cases/elements.ts'
import { everybody } from './cases/everybody.ts'
import { frustration } from './cases/frustration.ts'
import { hostile } from './cases/hostile.ts'
import { pages } from './cases/pages.ts'
import { privacy } from './cases/privacy.ts'
import { routes } from './cases/routes.ts'
import { scroll } from './cases/scroll.ts'
import { vitals } from './cases/vitals.ts'

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
  ...everybody,
  ...clobbered,
  ...delivery,
]
