// Package interop holds the transport under real SDKs, against a strict upstream that announces its limits in the words of each API. It is a
// module of its own, so that nobody who uses the transport downloads the SDKs. It holds nothing but tests and examples.
package interop
