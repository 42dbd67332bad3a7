"""The broker's config/*.json: topics, groups, offsets, as fastjson writes them."""
