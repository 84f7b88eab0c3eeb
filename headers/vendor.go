package headers

import (
	"time"
)

// vendor is an API whose headers follow no family. One of its marks in an answer makes its quotas and its reader apply.
type vendor struct {
	name   string
	marks  []string // header names in the spelling of net/http, found nowhere else
	quotas []vendorQuota
	shape  shape // of values that hold more than a number
}

// vendorQuota says which header tells which fact of one quota. What a server leaves out stays unknown.
type vendorQuota struct {
	unit, name string // no unit: requests
	window     time.Duration

	limit, remaining  string
	reset, resetMilli string // any form; a length in milliseconds
	windowMilli       string
}

const day = 24 * time.Hour

// vendors are the rules worth having, most of them by how many programs call the API. They never change.
var vendors = [...]vendor{
	{name: "HubSpot", marks: []string{"X-Hubspot-Ratelimit-Max", "X-Hubspot-Ratelimit-Daily"}, quotas: []vendorQuota{
		{limit: "X-Hubspot-Ratelimit-Max", remaining: "X-Hubspot-Ratelimit-Remaining", windowMilli: "X-Hubspot-Ratelimit-Interval-Milliseconds"},
		{name: "daily", window: day, limit: "X-Hubspot-Ratelimit-Daily", remaining: "X-Hubspot-Ratelimit-Daily-Remaining"},
		{name: "secondly", window: time.Second, limit: "X-Hubspot-Ratelimit-Secondly", remaining: "X-Hubspot-Ratelimit-Secondly-Remaining"},
	}},
	{name: "HighLevel", marks: []string{"X-Ratelimit-Interval-Milliseconds"}, quotas: []vendorQuota{
		{limit: "X-Ratelimit-Max", windowMilli: "X-Ratelimit-Interval-Milliseconds"},
		{name: "daily", window: day, limit: "X-Ratelimit-Limit-Daily", remaining: "X-Ratelimit-Daily-Remaining"},
	}},
	{name: "Trello", marks: []string{"X-Rate-Limit-Api-Token-Max", "X-Rate-Limit-Api-Key-Max"}, quotas: []vendorQuota{
		{name: "api-token", limit: "X-Rate-Limit-Api-Token-Max", remaining: "X-Rate-Limit-Api-Token-Remaining", windowMilli: "X-Rate-Limit-Api-Token-Interval-Ms"},
		{name: "api-key", limit: "X-Rate-Limit-Api-Key-Max", remaining: "X-Rate-Limit-Api-Key-Remaining", windowMilli: "X-Rate-Limit-Api-Key-Interval-Ms"},
	}},
	{name: "BigCommerce", marks: []string{"X-Rate-Limit-Requests-Left"}, quotas: []vendorQuota{
		{limit: "X-Rate-Limit-Requests-Quota", remaining: "X-Rate-Limit-Requests-Left", resetMilli: "X-Rate-Limit-Time-Reset-Ms", windowMilli: "X-Rate-Limit-Time-Window-Ms"},
	}},
	{name: "Etsy", marks: []string{"X-Limit-Per-Second", "X-Limit-Per-Day"}, quotas: []vendorQuota{
		{name: "second", window: time.Second, limit: "X-Limit-Per-Second", remaining: "X-Remaining-This-Second"},
		{name: "day", window: day, limit: "X-Limit-Per-Day", remaining: "X-Remaining-Today"},
	}},
	{name: "Yelp", marks: []string{"Ratelimit-Dailylimit"}, quotas: []vendorQuota{
		{window: day, limit: "Ratelimit-Dailylimit", reset: "Ratelimit-Resettime"},
		{name: "resource", window: day, limit: "Ratelimit-Resourcedailylimit", remaining: "Ratelimit-Resourceremaining", reset: "Ratelimit-Resettime"},
	}},
	{name: "Contentful", marks: []string{"X-Contentful-Ratelimit-Second-Limit", "X-Contentful-Ratelimit-Hour-Limit"}, quotas: []vendorQuota{
		{window: time.Second, limit: "X-Contentful-Ratelimit-Second-Limit", remaining: "X-Contentful-Ratelimit-Second-Remaining", reset: "X-Contentful-Ratelimit-Reset"},
		{window: time.Hour, limit: "X-Contentful-Ratelimit-Hour-Limit", remaining: "X-Contentful-Ratelimit-Hour-Remaining"},
	}},
	{name: "Amazon Selling Partner", marks: []string{"X-Amzn-Ratelimit-Limit"}, quotas: []vendorQuota{
		{window: time.Second, limit: "X-Amzn-Ratelimit-Limit"}, // a rate, often below one
	}},
	{name: "Fastly", marks: []string{"Fastly-Ratelimit-Remaining"}, quotas: []vendorQuota{
		{remaining: "Fastly-Ratelimit-Remaining", reset: "Fastly-Ratelimit-Reset"},
	}},
	{name: "Bybit", marks: []string{"X-Bapi-Limit-Status"}, quotas: []vendorQuota{
		{limit: "X-Bapi-Limit", remaining: "X-Bapi-Limit-Status", reset: "X-Bapi-Limit-Reset-Timestamp"},
	}},
	{name: "KuCoin", marks: []string{"Gw-Ratelimit-Limit"}, quotas: []vendorQuota{
		{limit: "Gw-Ratelimit-Limit", remaining: "Gw-Ratelimit-Remaining", resetMilli: "Gw-Ratelimit-Reset"},
	}},
	{name: "Pipedrive", marks: []string{"X-Daily-Ratelimit-Token-Remaining"}, quotas: []vendorQuota{
		{unit: tokens, name: "daily", window: day, limit: "X-Daily-Ratelimit-Token-Limit", remaining: "X-Daily-Ratelimit-Token-Remaining"},
	}},
	{name: "Xero", marks: []string{"X-Daylimit-Remaining", "X-Minlimit-Remaining"}, quotas: []vendorQuota{
		{name: "day", window: day, remaining: "X-Daylimit-Remaining"},
		{name: "minute", window: time.Minute, remaining: "X-Minlimit-Remaining"},
		{name: "app-minute", window: time.Minute, remaining: "X-Appminlimit-Remaining"},
	}},
	{name: "Sentry", marks: []string{"X-Sentry-Rate-Limit-Limit"}, quotas: []vendorQuota{
		{limit: "X-Sentry-Rate-Limit-Limit", remaining: "X-Sentry-Rate-Limit-Remaining", reset: "X-Sentry-Rate-Limit-Reset"},
		{unit: "concurrent-requests", limit: "X-Sentry-Rate-Limit-Concurrentlimit", remaining: "X-Sentry-Rate-Limit-Concurrentremaining"},
	}},
	{name: "X", marks: []string{"X-App-Limit-24hour-Limit", "X-User-Limit-24hour-Limit"}, quotas: []vendorQuota{
		{name: "app", window: day, limit: "X-App-Limit-24hour-Limit", remaining: "X-App-Limit-24hour-Remaining", reset: "X-App-Limit-24hour-Reset"},
		{name: "user", window: day, limit: "X-User-Limit-24hour-Limit", remaining: "X-User-Limit-24hour-Remaining", reset: "X-User-Limit-24hour-Reset"},
	}},
	{name: "Brevo", marks: []string{"X-Sib-Ratelimit-Limit"}, quotas: []vendorQuota{
		{limit: "X-Sib-Ratelimit-Limit", remaining: "X-Sib-Ratelimit-Remaining", reset: "X-Sib-Ratelimit-Reset"},
	}},
	{name: "Together", marks: []string{"X-Tokenlimit-Limit"}, quotas: []vendorQuota{
		{unit: tokens, limit: "X-Tokenlimit-Limit", remaining: "X-Tokenlimit-Remaining"},
	}},
	{name: "Cohere", marks: []string{"X-Trial-Endpoint-Call-Limit"}, quotas: []vendorQuota{
		{name: "trial-endpoint", limit: "X-Trial-Endpoint-Call-Limit", remaining: "X-Trial-Endpoint-Call-Remaining"},
	}},
	{name: "Freshdesk", marks: []string{"X-Ratelimit-Total"}, quotas: []vendorQuota{{limit: "X-Ratelimit-Total"}}},
	{name: "Akamai", marks: []string{"X-Ratelimit-Next"}, quotas: []vendorQuota{{reset: "X-Ratelimit-Next"}}}, // one more call fits then
	{name: "Shopify", marks: []string{"X-Shopify-Shop-Api-Call-Limit"}, shape: shapeShopify},
	{name: "Salesforce", marks: []string{"Sforce-Limit-Info"}, shape: shapeSalesforce},
	{name: "Azure", marks: []string{"X-Ms-Ratelimit-Remaining-Resource"}, shape: shapeAzure},
	{name: "Strava", marks: []string{"X-Ratelimit-Usage"}, shape: shapeStrava},
	{name: "Riot", marks: []string{"X-App-Rate-Limit", "X-Method-Rate-Limit"}, shape: shapeRiot},
	{name: "Meta", marks: []string{"X-App-Usage", "X-Business-Use-Case-Usage", "X-Ad-Account-Usage", "X-Page-Usage"}, shape: shapeMeta},
	{name: "Basecamp", marks: []string{"X-Ratelimit"}, shape: shapeBasecamp},
}

// vendors applies the rules of the vendors whose marks the scan met.
func (rd *reading) vendors() {
	for i := range vendors {
		if rd.marks>>i&1 == 0 {
			continue
		}
		for j := range vendors[i].quotas {
			rd.vendorQuota(&vendors[i].quotas[j])
		}
		rd.vendorValue(vendors[i].shape)
	}
}

// vendorQuota reads one quota. If the general rules have read a part of it, under the same name and without its window, the
// vendor's rule completes that.
func (rd *reading) vendorQuota(v *vendorQuota) {
	q := Quota{Unit: v.unit, Name: v.name}
	if q.Unit == "" {
		q.Unit = requests
	}
	q.Window = maybe(v.window, v.window > 0)
	for _, line := range usable(rd.h[v.windowMilli]) {
		q.Window = spanOf(trim(line), time.Millisecond)
	}
	q.Limit = leastCount(usable(rd.h[v.limit]))
	q.Remaining = leastCount(usable(rd.h[v.remaining]))
	rd.delayBy(&q, usable(rd.h[v.reset]))
	rd.delayByMilli(&q, usable(rd.h[v.resetMilli]))
	rd.complement(q)
}

// delayByMilli is delayBy for a header in which a bare number counts milliseconds.
func (rd *reading) delayByMilli(q *Quota, lines []string) {
	usual := rd.unit
	rd.unit = time.Millisecond
	rd.delayBy(q, lines)
	rd.unit = usual
}

// complement adds q together with the entry of its name that has no window yet, if there is one.
func (rd *reading) complement(q Quota) {
	if !q.tells() {
		return
	}
	r := &rd.report
	for i := range r.Quotas {
		if e := &r.Quotas[i]; e.Unit == q.Unit && e.Name == q.Name && e.Partition == "" && !e.Window.Known {
			q.merge(e)
			r.remove(i)
			break
		}
	}
	r.Add(q)
}
