/** The longest window, and its default. */
export const windowDaysMax = 365
export const windowDaysDefault = 30

/** The interest to read: the people that an organization may see, topics and a window. */
export interface InterestPlan {
  readonly organizationId: string
  /** Null: all topics of the vocabulary. */
  readonly topics: readonly string[] | null
  /** The last day of the window, since 1970 (UTC). */
  readonly today: number
  readonly windowDays: number
  /** Hems of people whom the organization is erasing. */
  readonly erased: readonly string[]
}
