import type { Field } from './field.ts'
import { profileFields } from './profileField.ts'
import {
  companyTypes,
  employeeRanges,
  fundingStages,
  industries,
  revenueRanges,
} from './vocabulary.ts'

const { text, label, integer, number, flag } = profileFields('company', 'resolution_full_profile')

/** The company the person works for. */
export const companyFields: readonly Field[] = [
  text('company_name', 'Name the company uses.'),
  text('company_legal_name', 'Legal name in the company register.'),
  text('company_domain', 'Domain of the website, without www. Identifies the company.'),
  text('company_website_url', 'Address of the website.'),
  text('company_description', 'Description of the business, in one or two sentences.'),
  label('company_industry', 'Industry.', Object.keys(industries)),
  label('company_sub_industry', 'Subdivision of the industry.', Object.values(industries).flat()),
  label('company_naics_code', 'NAICS 2022 code of the main business.'),
  label('company_sic_code', 'SIC code of the main business.'),
  label('company_type', 'Type of ownership.', companyTypes),
  text('company_stock_symbol', 'Ticker of a listed company.'),
  label('company_stock_exchange', 'Exchange on which a listed company is traded.'),
  integer('company_founded_year', 'Year of foundation.'),
  integer('company_employee_count', 'Employees.'),
  label('company_employee_range', 'Number of employees, as a range.', employeeRanges),
  number(
    'company_employee_growth',
    'Relative growth of employees in a year: 0.1 is ten percent more.',
  ),
  integer('company_revenue_usd', 'Yearly revenue in US dollars.'),
  label('company_revenue_range', 'Yearly revenue in US dollars, as a range.', revenueRanges),
  integer('company_funding_total_usd', 'Venture capital raised so far, in US dollars.'),
  label('company_funding_stage', 'Last round of venture capital.', fundingStages),
  text('company_phone', 'Main phone number, as E.164.'),
  text('company_street_address', 'Street and number of the headquarters.'),
  text('company_city', 'City of the headquarters.'),
  label('company_region', 'State or province of the headquarters.'),
  text('company_postal_code', 'Postal code of the headquarters.'),
  label('company_country', 'Country of the headquarters, ISO 3166-1 alpha-2.'),
  text('company_linkedin_url', 'LinkedIn page.'),
  text('company_twitter_url', 'X (Twitter) page.'),
  text('company_facebook_url', 'Facebook page.'),
  text('company_technologies', 'Technologies found on the website, separated by commas.'),
  text('company_keywords', 'Products and services, as keywords separated by commas.'),
  text('company_parent_domain', 'Domain of the parent company.'),
  flag('company_sells_to_businesses', 'True if the company sells to companies.'),
  flag('company_sells_to_consumers', 'True if the company sells to people.'),
]
