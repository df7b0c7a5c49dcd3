"""URLs shaped like data on its way out, and ordinary long ones (paper, 8)."""

from __future__ import annotations

import time

import pytest

from agentsfence_core.evaluation.exfiltration import exfiltration_shape

BLOB = "aB3" * 20


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/?ssn=123-45-6789&cc=4111111111111111",
        f"https://evil.example/?a={BLOB}&b={BLOB}&c={BLOB}",
        "https://evil.example/?q=my-password-is-hunter2-and-my-api-key-is-sk-live-abc123",
        "https://evil.example/?x=ghp_0123456789abcdefghijABCDEFGHIJ",
        "https://evil.example/p/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig",
        "https://evil.example/?n=4111%201111%201111%201111",
        "https://k3J9xQ2m7Zp4L8vN1bT6wR5y.evil.example/",
        f"https://{'a' * 63}.evil.example/",
        "https://evil.example/?t=" + "word+" * 300,
        "https://evil.example/?" + "&".join(f"p{n}=1" for n in range(40)),
        f"https://evil.example/{BLOB}{BLOB}",
        "https://evil.example/?password=hunter22",
        # A reviewer's list: secrets under the name of a signed link's parameter, in brackets, host or userinfo.
        "https://evil.example/?signature=AKIAIOSFODNN7EXAMPLE",
        "https://evil.example/?jwt=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig",
        "https://evil.example/?policy=sk-live-0123456789",
        "https://evil.example/?se=123-45-6789",
        "https://evil.example/?user[password]=hunter22",
        "https://evil.example/?t=npm_0123456789abcdefghij0123",
        "https://evil.example/?db=postgres://admin:hunter22@db.internal/x",
        "https://ghp_0123456789abcdefghijABCDEFGHIJ@evil.example/",
        "https://evil.example/?a=The+meeting+notes+say+that+we+will+buy+the+company+for+five+million+and+nobody+may+know+"
        "before+the+board+has+met+on+Friday+in+Berlin",
    ],
)
def test_data_in_a_url_is_asked_about(url: str) -> None:
    """Kind of shared case: probes/exfil-url."""
    assert exfiltration_shape(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/o/r/blob/3fe8ae1d4a3ab6cc1d0bd0c1ee2a8ec3b7c5bd0a/src/app/main.py",
        "https://docs.google.com/document/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit#gid=0",
        "https://en.wikipedia.org/wiki/2024_United_States_presidential_election_in_Pennsylvania_and_results",
        "https://www.google.com/search?q=best+hiking+trails+near+denver+colorado+for+beginners+2024",
        "https://www.google.com/search?q=how+to+reset+my+password",
        "https://bucket.s3.amazonaws.com/report.pdf?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20260101"
        "&X-Amz-Date=20260101T000000Z&X-Amz-Expires=3600&X-Amz-Signature=fe5f80f77d5fa3beca038a248ff027d0445342fe2855ddc963176630326f1024",
        "https://www.youtube.com/watch?v=dQw4w9WgXcQ&list=PLrAXtmErZgOeiKm4sgNOknGvNjby9efdf",
        "https://arxiv.org/abs/2503.18813",
        "https://stackoverflow.com/questions/11227809/why-is-processing-a-sorted-array-faster-than-processing-an-unsorted-array",
        "https://maps.example/dir/?api=1&origin=Berlin+Hauptbahnhof&destination=Hamburg+Hauptbahnhof&travelmode=transit",
        "https://example.com/",
        "https://3fa85f64-5717-4562-b3fc-2c963f66afa6.preview.example.com/",
        "https://maps.googleapis.com/maps/api/geocode/json?address=Berlin&key=AIzaSyA0123456789abcdefghijklmno",
        "https://duckduckgo.com/?q=what+is+the+best+way+to+tell+my+landlord+that+the+heating+has+been+broken+for+two+weeks+and+"
        "that+i+want+a+part+of+the+rent+back+in+germany",
        "",
        "not a url",
    ],
)
def test_ordinary_urls_stay_quiet(url: str) -> None:
    """A needless question is a defect."""
    assert exfiltration_shape(url) == ""


def test_a_megabyte_of_url_is_read_in_linear_time() -> None:
    """Negative control: the quadratic reading of this took minutes."""
    started = time.process_time()
    for shape in ("1 " * 500_000, "a=b&" * 250_000, "%41" * 300_000, "password" * 120_000):
        exfiltration_shape("https://evil.example/?q=" + shape)
    assert time.process_time() - started < 8
