# SPDX-License-Identifier: LGPL-3.0-only
"""Requests of several users in one piece, so that a module has all of them while it answers the first. For tests of who
waits for whom."""
import json
import struct

import wire

OWNER, GUEST, OTHER = (0xFFFFFFFF, 0), (5001, 2), (5002, 2)
AGAIN = 11


def send(client, *requests, flags=0):
    """(cred, (topic, payload)), each; returns their matchtags."""
    data, tags = b"", []
    for (userid, rolemask), (topic, payload) in requests:
        client.matchtag += 1
        tags.append(client.matchtag)
        one = wire.encode(wire.REQUEST, topic, payload, flags=flags, aux2=client.matchtag, userid=userid, rolemask=rolemask)
        data += struct.pack("=I", 0xFFEE0012) + struct.pack(">I", len(one)) + one
    client.sock.sendall(data)
    return tags


def before(client, tag):
    """How many answers come before that one."""
    count = 0
    while (message := client.receive()).aux2 != tag:
        assert not message.aux1, message.text
        count += 1
    assert not message.aux1, message.text
    return count


def refusal(client):
    """The first answer that says to ask again; before it come answers without error."""
    while (message := client.receive()).aux1 != AGAIN:
        assert not message.aux1, message.text
    return message.text


def submit(client, count, userid, urgency=0):
    """Jobs of that user, submitted by him in the role of the owner. Returns their ids."""
    options = wire.submit_words(["--duration=60", "--cwd=/", "--env=A=b", "--simulate=1", "--", "true"])
    signed = wire.signed(userid, wire.jobspec(options))
    asked = ("job-ingest.submit", {"J": signed, "urgency": urgency, "flags": 0})
    tags = send(client, *[((userid, 1), asked)] * count)
    return [json.loads(client.answer(tag))["id"] for tag in tags]


class Turns:
    """The requests of guests that wait for their turn in a module. `asked` takes long; `counted` in the module's statistics
    says how many wait."""

    def __init__(self, module, asked, counted):
        self.module, self.asked, self.counted = module, asked, counted
        self.stats = (f"{module}.stats-get", {})

    def waiting(self):
        return json.loads(wire.Client().rpc(*self.stats))[self.counted]

    def flood(self, client):
        """Returns when as many requests wait as may."""
        send(client, *[(GUEST, self.asked)] * 80)
        text = refusal(client)
        assert f"64 of your requests to {self.module} wait" in text, text

    def owner_is_first(self, *sent):
        """The owner's request behind those of guests is answered before nearly all of them, and these are answered."""
        client = wire.Client()
        tags = send(client, *sent, (OWNER, self.stats))
        first = before(client, tags[-1])
        assert first <= 10, (sent[-1], first)
        assert before(client, tags[-2]) == len(sent) - 1 - first

    def other_guest_is_early(self, asked):
        client = wire.Client()
        tags = send(client, *[(GUEST, self.asked)] * 60, (OTHER, asked))
        first = before(client, tags[-1])
        assert first <= 10, first

    def gone_is_forgotten(self):
        """What waits of a client that has gone is served by nobody: the count goes from many to none."""
        client = wire.Client()
        self.flood(client)
        last = self.waiting()
        client.sock.close()
        while now := self.waiting():
            last = now
        assert last > 10, last

    def end_refuses(self, *modules):
        """Those that wait when these modules are removed, of which it is the last."""
        client = wire.Client()
        self.flood(client)
        for name in modules:
            wire.Client().rpc("module.remove", {"name": name})
        while (message := client.receive()).aux1 in (0, AGAIN):
            pass
        assert f"{self.module} was removed" in message.text, message.text
