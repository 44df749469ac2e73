import type { ComponentChildren } from 'preact'
import { Dialog } from './dialog.tsx'
import { Form } from './form.tsx'
import { costOf, usePrices } from './prices.ts'

/** Asks before a charge. Says how many records it has, and their price. */
export function ChargeDialog({
  title,
  action,
  meter,
  count,
  confirm,
  close,
  children,
}: {
  title: string
  action: string
  meter: string
  /** The number of records; null if it is not known. */
  count: number | null
  confirm(): Promise<void>
  close(): void
  children?: ComponentChildren
}) {
  const prices = usePrices()
  return (
    <Dialog title={title} close={close}>
      <Form submit={confirm} action={action} cancel={close}>
        <p>
          {prices.value && `${costOf(prices.value, meter, count)}. `}
          Records that were charged today are free.
        </p>
        {children}
      </Form>
    </Dialog>
  )
}
