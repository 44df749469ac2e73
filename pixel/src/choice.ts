import { decide, out } from './consent.ts'
import { keepId } from './identity.ts'
import { pageView } from './page.ts'
import { schedule } from './send.ts'

export const consent = (choice: string): void => {
  decide(pageView, choice === 'granted')
  schedule()
}

export const optOut = (): void => {
  keepId(out)
  decide(pageView)
}

export const optIn = (): void => {
  keepId()
  decide(pageView)
}
