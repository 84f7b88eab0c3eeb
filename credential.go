package throttle

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
)

// keyHeaders are where APIs look for a key besides Authorization.
var keyHeaders = [...]string{"X-Api-Key", "Api-Key", "X-Goog-Api-Key", "X-Auth-Token", "Private-Token", "Ocp-Apim-Subscription-Key"}

// keyParams are the same in queries.
var keyParams = [...]string{"key", "api_key", "apikey", "access_token"}

// credential is the part of the request's credential that stays the same from call to call, or empty.
func credential(req *http.Request) string {
	if a := req.Header.Get("Authorization"); a != "" {
		return stableAuthorization(a)
	}
	for _, h := range keyHeaders {
		if v := req.Header.Get(h); v != "" {
			return v
		}
	}
	if req.URL == nil || req.URL.User == nil && req.URL.RawQuery == "" {
		return ""
	}
	if u := req.URL.User; u != nil {
		return u.String()
	}
	q := req.URL.Query()
	for _, p := range keyParams {
		if v := q.Get(p); v != "" {
			return v
		}
	}
	return ""
}

// stableAuthorization leaves out what is new in every request (signatures, nonces) or every hour (a token's dates).
func stableAuthorization(a string) string {
	scheme, rest, _ := strings.Cut(a, " ")
	switch {
	case strings.HasPrefix(scheme, "AWS4-"):
		id, _, _ := strings.Cut(field(rest, "Credential="), "/") // the date and region follow the key's id
		return scheme + " " + id
	case strings.EqualFold(scheme, "Digest"):
		return scheme + " " + field(rest, "username=")
	case strings.EqualFold(scheme, "OAuth"):
		return scheme + " " + field(rest, "oauth_consumer_key=") + " " + field(rest, "oauth_token=")
	case strings.EqualFold(scheme, "Bearer"):
		if who := jwtSubject(rest); who != "" {
			return who
		}
	}
	return a
}

// field is the value after name in a comma-separated list.
func field(list, name string) string {
	_, v, _ := strings.Cut(list, name)
	v, _, _ = strings.Cut(v, ",")
	return strings.Trim(strings.TrimSpace(v), `"`)
}

// jwtSubject is who a JSON web token (RFC 7519) was issued to, which survives its renewal; empty when token is none.
func jwtSubject(token string) string {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return ""
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return ""
	}
	var claims struct{ Iss, Sub, Azp string }
	if json.Unmarshal(raw, &claims) != nil || claims.Sub == "" {
		return ""
	}
	return "jwt " + claims.Iss + " " + claims.Sub + " " + claims.Azp
}

// shortHash is 64 bits of SHA-256: enough to keep the credentials of a program apart, too little to guess them from.
func shortHash(s string) string {
	h := sha256.Sum256([]byte("throttle credential\x00" + s))
	return hex.EncodeToString(h[:8])
}
