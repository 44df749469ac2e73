/** How far a window may reach back, and how far it does where nobody says. */
export const windowDaysMax = 365
export const windowDaysDefault = 30

/** Interest to read: of people whom an organization may see, in some topics, within a window. */
export interface InterestPlan {
  readonly organizationId: string
  /** Null: in all of the vocabulary. */
  readonly topics: readonly string[] | null
  /** The last day of the window, since 1970 (UTC). */
  readonly today: number
  readonly windowDays: number
  /** The organization whose opt-outs leave people out: `everywhere` for free figures. */
  readonly hiddenFrom: string
  /** Hems of people who are to be erased from there. */
  readonly erased: readonly string[]
  /** Whether only signals that the operator loaded count, and not those of the organization's own events. */
  readonly loadedOnly?: boolean
}
