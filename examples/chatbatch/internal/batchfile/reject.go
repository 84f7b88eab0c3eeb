package batchfile

// Reason says why a line is no request. Of several reasons the first of the list below counts.
type Reason string

// The reasons, in the order in which they are looked for; LineTooLong comes before all others.
const (
	LineTooLong        Reason = "line_too_long"
	InvalidUTF8        Reason = "invalid_utf8"
	InvalidJSON        Reason = "invalid_json"
	TrailingData       Reason = "trailing_data"
	NotAnObject        Reason = "not_an_object"
	WrongFormat        Reason = "wrong_format"
	MissingCustomID    Reason = "missing_custom_id"
	CustomIDNotString  Reason = "custom_id_not_string"
	MissingBody        Reason = "missing_body"
	BodyNotObject      Reason = "body_not_object"
	MethodNotPost      Reason = "method_not_post"
	URLNotRelative     Reason = "url_not_relative"
	URLNotSupported    Reason = "url_not_supported"
	StreamNotSupported Reason = "stream_not_supported"
	MissingMessages    Reason = "missing_messages"
	DuplicateCustomID  Reason = "duplicate_custom_id"
)

// Reject is a line that is no request.
type Reject struct {
	Reason    Reason
	Detail    string // what was seen, for the user; never a value from the line
	ID        string // the line's custom_id where it has one
	FirstLine int    // the line that has the id already; 0 = none
	Metadata  []byte // of a cookbook line; valid as long as the Item
}

// Error reads "reason: detail".
func (r *Reject) Error() string {
	if r.Detail == "" {
		return string(r.Reason)
	}
	return string(r.Reason) + ": " + r.Detail
}

func reject(reason Reason, detail string) *Reject { return &Reject{Reason: reason, Detail: detail} }
