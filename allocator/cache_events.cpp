// SPDX-License-Identifier: Apache-2.0
#include <kvpane/allocator/cache_events.h>

#include <algorithm>
#include <utility>

namespace kvpane {

CacheEvents::CacheEvents(std::size_t capacity, std::uint32_t block_size)
    : events_(std::max<std::size_t>(capacity, 1)), tokens_(events_.size() * block_size), n_tokens_(events_.size()),
      scopes_(events_.size()), block_size_(block_size) {}

CacheEvents::CacheEvents(const CacheEvents& other) : CacheEvents(other.events_.size(), other.block_size_) {
    *this = other;
}

CacheEvents& CacheEvents::operator=(const CacheEvents& other) {
    if (this == &other) {
        return *this;
    }
    events_.assign(other.events_.size(), {});  // those of before pointed into texts that are overwritten now
    tokens_.resize(other.tokens_.size());
    n_tokens_.resize(other.n_tokens_.size());
    scopes_.resize(other.scopes_.size());
    std::ranges::for_each(scopes_, [&](std::string& text) { text.reserve(other.room_); });
    room_ = std::max(room_, other.room_);
    block_size_ = other.block_size_;
    next_ = other.next_;
    held_ = other.held_;
    totals_ = other.totals_;
    for (std::uint64_t number = first(); number < next_; ++number) {
        keep(slot(number), other.read(number));
    }
    return *this;
}

void CacheEvents::make_room(const Scope& scope) {
    const std::size_t characters = text_size(scope);
    if (characters <= room_) {
        return;
    }
    for (std::size_t at = 0; at < scopes_.size(); ++at) {
        if (scopes_[at].capacity() < characters) {  // then the text lies on the heap, and stays there when it is moved
            std::string text;
            text.reserve(characters);
            events_[at].scope = copy_scope(events_[at].scope, text);
            scopes_[at] = std::move(text);
        }
    }
    room_ = characters;
}

void CacheEvents::emit(CacheEvent event) {
    switch (event.kind) {
        case CacheEvent::Kind::stored: ++totals_.stored; break;
        case CacheEvent::Kind::removed: ++totals_.removed; break;
        case CacheEvent::Kind::cleared: break;  // counted in blocks, see count_cleared()
    }
    const std::size_t at = slot(next_);
    event.number = next_++;
    held_ = std::min<std::uint64_t>(held_ + 1, events_.size());
    keep(at, event);
}

void CacheEvents::keep(std::size_t at, CacheEvent event) {
    n_tokens_[at] = static_cast<std::uint32_t>(event.tokens.size());
    std::ranges::copy(event.tokens, tokens_.begin() + static_cast<std::ptrdiff_t>(at * block_size_));
    event.tokens = {};
    event.scope = copy_scope(event.scope, scopes_[at]);
    events_[at] = event;
}

CacheEvent CacheEvents::read(std::uint64_t number) const noexcept {
    const std::size_t at = slot(number);
    CacheEvent event = events_[at];
    event.tokens = std::span(tokens_).subspan(at * block_size_, n_tokens_[at]);
    return event;
}

}  // namespace kvpane
